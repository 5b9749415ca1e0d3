import { invalidField, present } from './body.js';
import { hasTextEnding, isTextFile, textOfFile } from './text-files.js';
import type { BlockOf } from '@gw2api/gateway/plugin';

type Source = BlockOf<'document'>['source'];

/** Image block from a base64 `data:` or http(s) URL; throws `invalid_request` at `path` for anything else. */
export function imageBlock(url: string, path: string): BlockOf<'image'> {
  if (isWeb(url)) return { type: 'image', source: { type: 'url', url } };
  const { mediaType, data } = readDataUrl(url, path);
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

/** PDF, text or image block from a `data:` URL, an http(s) URL, or bare base64 with a name that tells its type. */
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

/** Source of a file: text where its type or name says so, for a base64 document of text is refused. */
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
