import type { BlockOf } from '@gw2api/gateway/plugin';
import { invalidField, present } from './body.js';

type Source = BlockOf<'document'>['source'];

/** Image block from a base64 `data:` or http(s) URL; throws `invalid_request` at `path` for anything else. */
export function imageBlock(url: string, path: string): BlockOf<'image'> {
  if (isWeb(url)) return { type: 'image', source: { type: 'url', url } };
  const { mediaType, data } = readDataUrl(url, path);
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

/**
 * PDF, text or image block from a `data:` URL, an http(s) URL, or bare base64 with a name that indicates its type.
 */
export function fileBlock(
  url: string,
  filename: string | undefined,
  path: string,
): BlockOf<'document'> | BlockOf<'image'> {
  const title = present({ title: filename });
  if (isWeb(url)) return { type: 'document', source: { type: 'url', url }, ...title };
  const { mediaType, data } = readDataUrl(withMediaType(url, filename), path);
  const source = fileSource(mediaType, data, filename);
  if (source.type === 'base64' && mediaType.startsWith('image/')) return { type: 'image', source };
  return { type: 'document', source, ...title };
}

/** Source of a file: text if its type or name indicates it, since a base64 document of text is refused. */
export function fileSource(mediaType: string, data: string, filename?: string): Source {
  const text = isTextFile(mediaType, filename) ? textOfFile(data) : undefined;
  return text === undefined
    ? { type: 'base64', media_type: mediaType, data }
    : { type: 'text', media_type: 'text/plain', data: text };
}

function isWeb(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

function isData(url: string): boolean {
  return /^data:/i.test(url);
}

function withMediaType(data: string, filename: string | undefined): string {
  if (isData(data)) return data;
  if (filename?.toLowerCase().endsWith('.pdf')) return `data:application/pdf;base64,${data}`;
  return hasTextEnding(filename) ? `data:text/plain;base64,${data}` : data;
}

function readDataUrl(url: string, path: string): { mediaType: string; data: string } {
  const comma = url.indexOf(',');
  const [mediaType = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 0)).split(';');
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64');
  if (!isData(url) || !isBase64 || mediaType === '')
    throw invalidField(path, 'must be an http(s) URL or a data: URL with a media type and base64 data');
  const name = mediaType.toLowerCase();
  return { mediaType: aliases.get(name) ?? name, data: url.slice(comma + 1) };
}

/** Names in use for media types that the upstream knows by another one. */
const aliases: ReadonlyMap<string, string> = new Map([['image/jpg', 'image/jpeg']]);

/** Media types of files that are text, besides those of `text/`. */
const textTypes =
  /^(?:text\/.*|application\/(?:json|xml|yaml|x-yaml|toml|csv|sql|graphql|javascript|x-javascript|typescript|x-typescript|ecmascript|x-sh|x-shellscript|x-python|x-httpd-php|x-ndjson|jsonl|jsonlines|x-tex)|[^;]*\+(?:json|xml|yaml))$/;

/** Extensions of text files, for a file without an informative media type. */
const textEndings = new Set(
  (
    'txt text log md markdown rst tex json jsonl ndjson json5 xml html htm css scss less csv tsv yaml yml toml ini cfg ' +
    'conf env properties sql graphql proto diff patch js mjs cjs jsx ts mts cts tsx vue svelte py pyi rb php java kt ' +
    'kts scala groovy go rs c h cc cpp cxx hpp cs swift m mm pl pm lua r jl dart ex exs erl hs clj sh bash zsh fish ' +
    'ps1 bat cmd dockerfile makefile cmake gradle tf ipynb svg srt vtt'
  ).split(' '),
);

/** Media types that do not identify the file. */
const anyTypes = new Set(['application/octet-stream', 'binary/octet-stream', 'application/unknown']);

/** True for a text file, by its media type, else by the ending of its name. */
function isTextFile(mediaType: string, filename = ''): boolean {
  return textTypes.test(mediaType) || (anyTypes.has(mediaType) && hasTextEnding(filename));
}

/** True for a name with the ending of a text file. */
function hasTextEnding(filename = ''): boolean {
  return textEndings.has(filename.slice(filename.lastIndexOf('.') + 1).toLowerCase());
}

/** Text of UTF-8 in base64; undefined for other bytes. */
function textOfFile(data: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(data, 'base64'));
  } catch {
    return undefined; // not UTF-8, whatever its name says
  }
}
