// SHA-256 (FIPS 180-4) of a string of bytes: `crypto.subtle` is for pages that came over TLS.
const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every(p => n % p)) primes.push(n);
const bits = root => primes.map(p => (root(p) % 1) * 2 ** 32 | 0);
const H = bits(Math.sqrt).slice(0, 8), K = bits(Math.cbrt);
const turn = (x, n) => x >>> n | x << 32 - n;

function sha256(bytes) {
  const length = bytes.length, blocks = Math.ceil((length + 9) / 64);
  const padded = new Uint8Array(blocks * 64);
  for (let i = 0; i < length; i++) padded[i] = bytes.charCodeAt(i);
  padded[length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(blocks * 64 - 4, length * 8);
  const hash = H.slice(), w = new Int32Array(64);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(block * 64 + i * 4);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (turn(a, 7) ^ turn(a, 18) ^ a >>> 3) + (turn(b, 17) ^ turn(b, 19) ^ b >>> 10);
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i++) {
      const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + K[i] + w[i] | 0;
      const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, d + one | 0, c, b, a, one + two | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => hash[i] = hash[i] + x | 0);
  }
  return hash.map(x => (x >>> 0).toString(16).padStart(8, "0")).join("");
}
