import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Files by their paths, as text or as JSON, which is YAML too. */
export type Files = Readonly<Record<string, string | object>>;

/** Folders that a test makes and `remove` removes. */
export class TempFolders {
  readonly #folders: string[] = [];

  async make(files: Files = {}): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), 'gw2api-test-'));
    this.#folders.push(folder);
    for (const [name, content] of Object.entries(files)) await writeIn(folder, name, content);
    return folder;
  }

  async remove(): Promise<void> {
    for (const folder of this.#folders.splice(0)) await rm(folder, { recursive: true, force: true });
  }
}

/** Writes a file, its folders included. */
export async function writeIn(folder: string, name: string, content: string | object): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
}
