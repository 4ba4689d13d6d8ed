// Records each made-up page as Chromium loads it:  npm install && npm run record [-- FOLDER]
// CHROMIUM names another browser than /usr/bin/chromium.

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { PAGES } from './pages.mjs';
import { serve } from './serve.mjs';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable',
];

const folder =
  process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'pages');

/** Loads the page once in a fresh context: no cache, no connection of an earlier load. */
async function load(browser, page, options) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options });
  try {
    const tab = await context.newPage();
    await tab.goto(page.start, { waitUntil: 'networkidle' });
  } finally {
    await context.close();
  }
}

async function record(name, page) {
  const { rules, stop } = await serve(page);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [...ARGUMENTS, `--host-resolver-rules=${rules}`],
  });
  const path = join(folder, `${name}.har`);
  try {
    // The first load pays for the browser's own start; it is not the page's.
    await load(browser, page, {});
    await load(browser, page, { recordHar: { path, content: 'omit' } });
  } finally {
    await browser.close();
    stop();
  }
  console.log(`recorded ${path}`);
}

mkdirSync(folder, { recursive: true });
for (const [name, page] of Object.entries(PAGES)) await record(name, page);
