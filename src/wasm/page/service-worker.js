// Keeps the page's own files, so that it works offline. @VERSION@ changes with them.
const CACHE = 'sardonyx-@VERSION@';
const FILES = ['./', 'page.js', 'page.css', 'worker.js', 'module.js', 'wasi.js', 'files.js', 'sources.js',
               'sardonyx.wasm'];

addEventListener('install', event => {
  event.waitUntil(caches.open(CACHE).then(cache => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

addEventListener('activate', event => {
  const old = name => name.startsWith('sardonyx-') && name !== CACHE;
  event.waitUntil(caches.keys()
    .then(names => Promise.all(names.filter(old).map(name => caches.delete(name))))
    .then(() => self.clients.claim()));
});

addEventListener('fetch', event => {
  if (event.request.method !== 'GET') return;
  event.respondWith(caches.open(CACHE)
    .then(cache => cache.match(event.request, {ignoreSearch: true}))
    .then(found => found ?? fetch(event.request)));
});
