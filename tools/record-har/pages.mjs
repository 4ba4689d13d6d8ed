// The pages that are recorded: per host what each path answers. `think` is the server's time in
// ms before the first byte; bodies leave at `PACE` bytes per ms, so that a body takes time.

import { noise, png, script, style, words } from './content.mjs';

const image = (size, seed, think = 4) => ({ type: 'image/png', body: png(size, seed), think });
const html = (body, think) => ({ type: 'text/html; charset=utf-8', body, think });
const css = (body, think = 3) => ({ type: 'text/css', body, think });
const js = (body, think = 3) => ({ type: 'text/javascript', body, think });
const json = (value, think) => ({ type: 'application/json', body: JSON.stringify(value), think });
const font = (size, seed) => ({ type: 'font/woff2', body: noise(size, seed), think: 3 });

const paths = (entries) => Object.fromEntries(entries);

/** A long article with many images from two hosts, behind a redirect, HTTP/1.1. */
function article() {
  const own = Array.from({ length: 8 }, (_, i) => [`/fig/${i}.png`, image(6000 + 3500 * i, 100 + i)]);
  const remote = Array.from({ length: 18 }, (_, i) => [
    `/photo/${i}.png`,
    image(9000 + 4200 * ((i * 7) % 18), 200 + i, 6),
  ]);
  const sources = [
    ...own.map(([path]) => path),
    ...remote.map(([path]) => `http://photos.example${path}`),
  ];
  const paragraphs = sources.map((src, i) => `<p>${words(1500, 300 + i)}</p><img src="${src}">`);
  const head = '<link rel="stylesheet" href="/print.css"><link rel="stylesheet" href="/screen.css">';
  const body = `<!doctype html><title>A long read</title>${head}<script src="/toc.js" defer></script>
<h1>A long read</h1>${paragraphs.join('\n')}`;
  return {
    start: 'http://article.example/',
    hosts: {
      'article.example': paths([
        ['/', { status: 302, location: '/2024/a-long-read', think: 8 }],
        ['/2024/a-long-read', html(body, 45)],
        ['/print.css', css(style(4000, 1, '@page { margin: 2cm }'))],
        ['/screen.css', css(style(18000, 2, 'body { max-width: 40em }'))],
        ['/toc.js', js(script(22000, 3, 'document.title += " (26 pictures)";'))],
        ...own,
      ]),
      'photos.example': paths(remote),
    },
  };
}

/** An application: HTML, then scripts, then data, then what the data names; HTTP/1.1. */
function app() {
  const items = Array.from({ length: 12 }, (_, i) => [`/thumb/${i}.png`, image(7000 + 1500 * i, 400 + i)]);
  const main = `
fetch('http://api.example/session').then((r) => r.json()).then(async (session) => {
  const list = await (await fetch('http://api.example/items?for=' + session.user)).json();
  for (const item of list.items) {
    const picture = new Image();
    picture.src = item.picture;
    document.body.append(picture);
  }
});`;
  const list = {
    items: items.map(([picture], i) => ({ picture, name: words(300, 500 + i) })),
  };
  return {
    start: 'http://app.example/',
    hosts: {
      'app.example': paths([
        ['/', html(`<!doctype html><title>App</title><link rel="stylesheet" href="/app.css">
<script src="/vendor.js" defer></script><script src="/app.js" defer></script>
<main><noscript>${words(2600, 18)}</noscript></main>`, 12)],
        ['/app.css', css(style(24000, 4))],
        ['/vendor.js', js(script(210000, 5))],
        ['/app.js', js(script(130000, 6, main))],
        ...items,
      ]),
      'api.example': paths([
        ['/session', json({ user: 7, token: words(800, 7) }, 70)],
        ['/items', json(list, 110)],
      ]),
    },
  };
}

/** A small landing page with fonts; HTTP/2 over TLS. */
function landing() {
  const faces = ['regular', 'bold'].map(
    (name) => `@font-face { font-family: ${name}; src: url(/font/${name}.woff2) }`,
  );
  const rules = `${faces.join('\n')} body { font-family: regular } h1 { font-family: bold }`;
  const body = `<!doctype html><title>Landing</title><link rel="stylesheet" href="/main.css">
<script src="/main.js" async></script><h1>${words(40, 8)}</h1><img src="/hero.png">
<p>${words(9000, 9)}</p><img src="/a.png"><img src="/b.png"><img src="/c.png">
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">`;
  return {
    start: 'https://landing.example/',
    hosts: {
      'landing.example': paths([
        ['/', html(body, 20)],
        ['/main.css', css(style(11000, 10, rules))],
        ['/main.js', js(script(16000, 11))],
        ['/font/regular.woff2', font(21000, 12)],
        ['/font/bold.woff2', font(19000, 13)],
        ['/hero.png', image(88000, 14)],
        ['/a.png', image(12000, 15)],
        ['/b.png', image(9000, 16)],
        ['/c.png', image(5000, 17)],
      ]),
    },
  };
}

export const PAGES = { article: article(), app: app(), landing: landing() };
