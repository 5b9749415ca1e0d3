import { isDeepStrictEqual } from 'node:util';
import type { Wire } from './receivers.js';
import type { Sent } from './recorder.js';
import { valuesAt } from './paths.js';

/** True if the calls that went up have a value in its place. */
export type Place = (calls: readonly Sent[]) => boolean;

/** Part of a feature: its paths in the caller's body, and its place in the body of each kind that has one. */
export interface Part {
  readonly of: RegExp | string;
  readonly in: Readonly<Partial<Record<Wire, Place>>>;
}

/** The field at a path, with this value unless any will do. */
export function field(path: string, ...values: readonly unknown[]): Place {
  return ([call]) => {
    const found = valuesAt(call?.body, path);
    if (values.length === 0) return found.length > 0;
    return values.some((value) => found.some((each) => isDeepStrictEqual(each, value)));
  };
}

/** A text somewhere within the value at a path; empty: anywhere. */
export function text(path: string, mark: string): Place {
  return ([call]) => {
    const found = path === '' ? [call?.body] : valuesAt(call?.body, path);
    return found.some((value) => JSON.stringify(value).includes(JSON.stringify(mark).slice(1, -1)));
  };
}

/** A text in the bytes as they were sent. */
export function bytes(text: string): Place {
  return ([call]) => call?.raw.includes(text) === true;
}

export function any(...places: readonly Place[]): Place {
  return (calls) => places.some((place) => place(calls));
}

export function all(...places: readonly Place[]): Place {
  return (calls) => places.every((place) => place(calls));
}

/** The same place in all kinds. */
export function everywhere(place: Place): Part['in'] {
  return { messages: place, chat: place, responses: place };
}

/** A text in the conversation of each kind. */
export function said(mark: string): Part['in'] {
  return {
    messages: text('messages', mark),
    chat: text('messages', mark),
    responses: text('input', mark),
  };
}

/** A text of the conversation that stands behind another one, and before a third. */
export function saidBetween(before: string, mark: string, after: string): Part['in'] {
  const pattern = new RegExp(`"${before}"[^]*${mark}[^]*(?:"|\\\\n)${after}"`);
  const between =
    (path: string): Place =>
    ([call]) =>
      pattern.test(JSON.stringify(valuesAt(call?.body, path)));
  return { messages: between('messages'), chat: between('messages'), responses: between('input') };
}
