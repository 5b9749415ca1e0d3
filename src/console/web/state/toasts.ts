import { createStore } from './store.js';

interface Toast {
  readonly id: number;
  readonly tone: 'ok' | 'bad';
  readonly text: string;
}

export const toasts = createStore<readonly Toast[]>([]);

let lastId = 0;

/** Shows a message in the corner of the page for some seconds. */
export function toast(text: string, tone: Toast['tone'] = 'ok'): void {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get(), { id, tone, text }].slice(-3));
  setTimeout(() => dropToast(id), tone === 'ok' ? 4000 : 8000);
}

export function dropToast(id: number): void {
  toasts.set(toasts.get().filter((shown) => shown.id !== id));
}
