/** Media types of files that are text, besides those of `text/`. */
const textTypes =
  /^(?:text\/.*|application\/(?:json|xml|yaml|x-yaml|toml|csv|sql|graphql|javascript|x-javascript|typescript|x-typescript|ecmascript|x-sh|x-shellscript|x-python|x-httpd-php|x-ndjson|jsonl|jsonlines|x-tex)|[^;]*\+(?:json|xml|yaml))$/;

/** Endings of files that are text, for a file whose media type says nothing. */
const textEndings = new Set(
  (
    'txt text log md markdown rst tex json jsonl ndjson json5 xml html htm css scss less csv tsv yaml yml toml ini cfg ' +
    'conf env properties sql graphql proto diff patch js mjs cjs jsx ts mts cts tsx vue svelte py pyi rb php java kt ' +
    'kts scala groovy go rs c h cc cpp cxx hpp cs swift m mm pl pm lua r jl dart ex exs erl hs clj sh bash zsh fish ' +
    'ps1 bat cmd dockerfile makefile cmake gradle tf ipynb svg srt vtt'
  ).split(' '),
);

/** Media types that say nothing of the file. */
const anyTypes = new Set(['application/octet-stream', 'binary/octet-stream', 'application/unknown']);

/** True for a file of this type, else by the ending of its name, that is text. */
export function isTextFile(mediaType: string, filename = ''): boolean {
  return textTypes.test(mediaType) || (anyTypes.has(mediaType) && hasTextEnding(filename));
}

/** True for a name with the ending of a text file. */
export function hasTextEnding(filename = ''): boolean {
  return textEndings.has(filename.slice(filename.lastIndexOf('.') + 1).toLowerCase());
}

/** Text of UTF-8 in base64; undefined for other bytes. */
export function textOfFile(data: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(data, 'base64'));
  } catch {
    return undefined; // not UTF-8, whatever its name says
  }
}
