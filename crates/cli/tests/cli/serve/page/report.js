// Writes into the page what the browser knows of it. All in the handler of the load event, without
// waiting: --dump-dom prints the page as it is afterwards.
function bytesOf(url) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.overrideMimeType("text/plain; charset=x-user-defined");
  request.send();
  // Bytes above 127 come as characters from U+F780 on.
  return Array.from(request.responseText, c => String.fromCharCode(c.charCodeAt(0) & 255)).join("");
}

addEventListener("load", () => {
  const [navigation] = performance.getEntriesByType("navigation");
  const { connectStart, connectEnd, requestStart, responseStart, responseEnd, domComplete } = navigation;
  const timing = { connectStart, connectEnd, requestStart, responseStart, responseEnd, domComplete };
  const ends = performance.getEntriesByType("resource").map(r => [new URL(r.name).pathname.slice(1), r.responseEnd]);
  const told = Object.fromEntries(navigation.serverTiming.map(m => [m.name, m.description || m.duration]));
  const images = [...document.images].map(image => image.naturalWidth);
  const style = getComputedStyle(document.body).marginLeft;
  const hashes = {};
  for (const url of ["index.html", ...ends.map(([name]) => name)]) hashes[url] = sha256(bytesOf(url));
  document.getElementById("report").textContent =
    JSON.stringify({ timing, ends: Object.fromEntries(ends), told, images, style, hashes });
});
