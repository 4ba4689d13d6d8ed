// Serves one page's hosts on ports of 127.0.0.1: thinks, then lets the body out at a fixed pace.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes of a body per ms: 16 Mbit/s for each response. */
const PACE = 2000;
const STEP_MS = 2;

/** A key and certificate for `host` that nobody trusts, made afresh. */
function certificate(host) {
  const folder = mkdtempSync(join(tmpdir(), 'record-har-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
    const files = ['-keyout', key, '-out', cert];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    execFileSync('openssl', ['req', '-x509', '-days', '2', ...kind, ...subject, ...files], {
      stdio: 'ignore',
    });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function headers(answer, size) {
  if (answer.location) return { location: answer.location, 'content-length': 0 };
  return {
    'content-type': answer.type,
    'content-length': size,
    'cache-control': 'max-age=60',
    'access-control-allow-origin': '*',
    'timing-allow-origin': '*',
  };
}

async function respond(paths, request, response) {
  const answer = paths[request.url.split('?')[0]];
  if (!answer) return response.writeHead(404, { 'content-length': 0 }).end();
  const body = Buffer.from(answer.body ?? '');
  await sleep(answer.think);
  response.writeHead(answer.status ?? 200, headers(answer, body.length));
  for (let sent = 0; sent < body.length; sent += PACE * STEP_MS) {
    response.write(body.subarray(sent, sent + PACE * STEP_MS));
    await sleep(STEP_MS);
  }
  response.end();
}

/** Starts a server per host; gives Chromium's resolver rules for them and a way to stop. */
export async function serve(page) {
  const secure = page.start.startsWith('https:');
  const servers = [];
  const rules = [];
  for (const [host, paths] of Object.entries(page.hosts)) {
    const handler = (request, response) => respond(paths, request, response).catch(console.error);
    const server = secure ? createSecureServer(certificate(host), handler) : createServer(handler);
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push(server);
    rules.push(`MAP ${host}:${secure ? 443 : 80} 127.0.0.1:${server.address().port}`);
  }
  return { rules: rules.join(', '), stop: () => servers.forEach((server) => server.close()) };
}
