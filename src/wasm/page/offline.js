// Where browsers allow it (https, or this machine), the page is kept for when there is no network.
navigator.serviceWorker?.register('service-worker.js').catch(() => {});
