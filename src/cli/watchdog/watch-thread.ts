import { parentPort, workerData } from 'node:worker_threads';

const { url, data } = workerData as { readonly url: string; readonly data: unknown }; // as startWatchdog passes it
const { begin } = (await import(url)) as { readonly begin: (given: unknown) => void };
begin(data);
parentPort?.on('message', () => undefined); // keeps the thread alive
