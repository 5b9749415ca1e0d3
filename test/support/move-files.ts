import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** New path by the old one, both relative to the root of the project. */
type Moves = ReadonlyMap<string, string>;

/** Moves source files by a JSON file of `{ old: new }`, and rewrites whatever names them: `move-files.js FILE`. */
function main(): void {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error('Usage: node build/test/support/move-files.js MOVES.json');
  const moves: Moves = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as object));
  const sources = git('ls-files', 'src', 'plugins', 'test').filter((name) => /\.(?:tsx?|css)$/.test(name));
  for (const source of sources) rewrite(source, moves);
  for (const [from, to] of moves) move(from, to);
}

function git(...args: readonly string[]): readonly string[] {
  return execFileSync('git', args, { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
}

function move(from: string, to: string): void {
  mkdirSync(path.dirname(to), { recursive: true });
  git('mv', from, to);
}

function rewrite(source: string, moves: Moves): void {
  const before = readFileSync(source, 'utf8');
  const after = before.replace(specifiers, (whole, start: string, specifier: string) => {
    if (isImport(start) && !isModule(specifier, source)) return whole; // the text of a module that a test writes
    const moved = movedSpecifier(specifier, source, moves);
    return moved === specifier ? whole : `${start}${moved}`;
  });
  if (after !== before) writeFileSync(source, after);
}

/** Specifiers of imports, and addresses that are relative to a module. */
const specifiers =
  /(\bfrom ['"]|\bimport ['"]|\bimport\(\s*['"]|\brequire\(['"]|\bnew URL\(\s*['"]|\.resolve\(['"]|\.register\(['"]|@import ['"])((?:\.{1,2}\/|#src\/)[^'"`$]*)/g;

function isImport(start: string): boolean {
  return !/URL|resolve|register/.test(start);
}

function isModule(specifier: string, source: string): boolean {
  return (
    specifier.startsWith('#src/') ||
    statSync(sourceOf(path.join(path.dirname(source), specifier)), { throwIfNoEntry: false })?.isFile() ===
      true
  );
}

function movedSpecifier(specifier: string, source: string, moves: Moves): string {
  if (specifier.startsWith('#src/')) {
    const target = sourceOf(`src/${specifier.slice(5)}`);
    const moved = moves.get(target);
    return moved === undefined ? specifier : `#src/${written(moved, specifier).slice(4)}`;
  }
  const folder = path.dirname(source);
  const target = sourceOf(path.join(folder, specifier));
  const [newFolder, newTarget] = [path.dirname(moves.get(source) ?? source), moves.get(target) ?? target];
  if (newFolder === folder && newTarget === target) return specifier;
  const relative = path.relative(newFolder, newTarget);
  const ending = specifier.endsWith('/') && !relative.endsWith('/') ? '/' : '';
  return written(relative.startsWith('.') ? relative : `./${relative}`, specifier) + ending;
}

/** Source file of a path as imports have it; itself where there is none. */
function sourceOf(target: string): string {
  const stem = target.replace(/\.js$/, '');
  return [`${stem}.ts`, `${stem}.tsx`].find((name) => target.endsWith('.js') && existsSync(name)) ?? target;
}

/** A path with the ending that the specifier has. */
function written(target: string, specifier: string): string {
  return specifier.endsWith('.js') ? target.replace(/\.tsx?$/, '.js') : target;
}

main();
