import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What listens, spawns, or opens a thread or a database, in a module of the tests; or the words of a file that does so unseen. */
const opening = new RegExp(
  [
    String.raw`\.listen\(|new Worker\(|node:child_process|node:cluster|simulator/index\.js|Not a fast test:`,
    String.raw`\b(?:startSimulator|openGateway|openStore|openSqlite|startSqliteThread|SqliteThread)\b`,
    String.raw`\b(?:runStage|stageChecks)\b`,
  ].join('|'),
);

const imported = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+\.js)['"]/g;

/**
 * Built tests that neither listen nor spawn: neither their text nor that of any module of the tests that they import
 * names a way to. Read anew at each run; `fast-guard.ts` refuses what this takes in by mistake.
 */
export function fastFiles(folder: string): readonly string[] {
  const opens = finder(opening, folder);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const tests = files.filter((name) => name.endsWith('.test.js') && !name.endsWith('.full.test.js'));
  return tests.map((name) => path.join(folder, name)).filter((file) => !opens(file));
}

/** What starts the bundle, in a module of the tests. */
const starting = /\bdist\b|gateway-process\.js|measure\/lab\.js/;

/** True if any of these built tests may start the program in a process of its own. */
export function mayStart(files: readonly string[], folder: string): boolean {
  return files.some(finder(starting, folder));
}

/** Finds what a module of the tests has in its text, or in that of any module of the tests that it imports. */
function finder(wanted: RegExp, folder: string): (file: string) => boolean {
  const known = new Map<string, boolean>();
  const finds = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    known.set(file, false); // while those that it imports are read, which may be in a circle
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const imports = Array.from(text.matchAll(imported), ([, name = '']) =>
      path.join(path.dirname(file), name),
    );
    const found = wanted.test(text) || imports.some((name) => name.startsWith(folder) && finds(name));
    known.set(file, found);
    return found;
  };
  return finds;
}
