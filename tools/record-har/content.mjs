// Made-up page contents of given sizes: the same bytes on every run, nobody's but ours.

import { crc32, deflateSync } from 'node:zlib';

/** A seeded generator of numbers in 0..2^32 (a 32-bit xorshift), so that contents never change. */
export function numbers(seed) {
  let x = seed | 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

/** `size` bytes that no compression makes smaller. */
export function noise(size, seed) {
  const next = numbers(seed);
  return Buffer.from(Uint8Array.from({ length: size }, () => next() & 255));
}

const SYLLABLES = 'ba ce di fo gu la me ni po ru sa te vi zo'.split(' ');

/** At least `size` characters of text that looks like words. */
export function words(size, seed) {
  const next = numbers(seed);
  const parts = [];
  for (let length = 0; length < size; ) {
    const word = Array.from({ length: 1 + (next() % 4) }, () => SYLLABLES[next() % 14]).join('');
    parts.push(word);
    length += word.length + 1;
  }
  return parts.join(' ');
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** A grey PNG of noise of about `size` bytes: a square, one byte a pixel. */
export function png(size, seed) {
  const side = Math.max(1, Math.round(Math.sqrt(size)));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.writeUInt8(8, 8);
  const pixels = noise(side * (side + 1), seed);
  for (let row = 0; row < side; row++) pixels[row * (side + 1)] = 0;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A style sheet of about `size` bytes after the given rules. */
export function style(size, seed, rules = '') {
  return `${rules}\n/* ${words(size, seed)} */\n`;
}

/** A script of about `size` bytes that ends with the given statements. */
export function script(size, seed, statements = '') {
  return `/* ${words(size, seed)} */\n${statements}\n`;
}
