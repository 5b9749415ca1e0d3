import type { BlockOf, ContentBlock, Message, TextBlock } from '@gw2api/gateway/plugin';
import { LastResults } from '@gw2api/gateway/plugin/format';
import { OrphanResults } from './tools/orphan-results.js';

type Role = Message['role'];

interface Turn {
  readonly role: Role;
  readonly blocks: readonly ContentBlock[];
}

/** Original place of a block. */
export interface Origin {
  /** Message or item in the caller's body: `messages[2]`, `input[0]`. */
  readonly path: string;
  /** Place among the blocks that were made of it. */
  readonly index: number;
}

/**
 * A conversation on its way into Messages form: roles take turns, each tool result follows its call, and late system
 * text stays in place for the prompt cache. Blank texts and other turns that only some receivers refuse are handled by
 * the upstream kinds.
 */
export class Transcript {
  readonly #system: TextBlock[] = [];
  readonly #turns: Turn[] = [];
  readonly #sources: { readonly path: string; readonly blocks: readonly ContentBlock[] }[] = [];
  readonly #orphans = new OrphanResults();
  #path = '';

  /** Sets the place in the caller's body of the next addition: `messages[2]`, `input[0]`. */
  from(path: string): void {
    this.#path = path;
  }

  /** Origins of the blocks that were added. */
  get origins(): ReadonlyMap<ContentBlock, Origin> {
    return new Map(
      this.#sources.flatMap(({ path, blocks }) => blocks.map((block, index) => [block, { path, index }])),
    );
  }

  /** Adds to the system text at the front; ignores blank texts. */
  addInstructions(blocks: readonly TextBlock[]): void {
    this.#sources.push({ path: this.#path, blocks });
    for (const block of blocks) if (!isBlank(block)) this.#system.push(block);
  }

  /** Adds system text at its position: at the front before the first turn, else as a system turn. */
  addSystem(blocks: readonly TextBlock[]): void {
    if (this.#turns.length === 0) this.addInstructions(blocks);
    else
      this.#add(
        'system',
        blocks,
        blocks.filter((block) => !isBlank(block)),
      );
  }

  /** Adds a turn of `role`; an empty one gets an empty text, a result without a call becomes text. */
  add(role: Exclude<Role, 'system'>, blocks: readonly ContentBlock[]): void {
    const known = this.#orphans.inWords(blocks, this.#path);
    this.#add(role, known.length > 0 ? known : [{ type: 'text', text: '' }]);
  }

  /** Places of results whose calls are missing, which are sent as text. */
  get orphanResults(): readonly string[] {
    return this.#orphans.paths;
  }

  #add(role: Role, blocks: readonly ContentBlock[], kept = blocks): void {
    this.#sources.push({ path: this.#path, blocks });
    if (kept.length > 0) this.#turns.push({ role, blocks: kept });
  }

  get system(): readonly TextBlock[] {
    return this.#system;
  }

  get messages(): readonly Message[] {
    const turns = answerCalls(mergeNeighbours(this.#withLastResults()));
    return turns.map(({ role, blocks }) => ({ role, content: resultsFirst(blocks) }));
  }

  /** Places of results that are left out, since a later one of the same call is sent. */
  get replacedResults(): readonly string[] {
    const results = this.#lastResults();
    if (!results) return [];
    const { origins } = this;
    return [...results.replaced].flatMap((block) => origins.get(block)?.path ?? []);
  }

  /** Turns in which each call has one result. */
  #withLastResults(): readonly Turn[] {
    const results = this.#lastResults();
    if (!results) return this.#turns;
    return this.#turns.map(({ role, blocks }) => ({
      role,
      blocks: blocks.flatMap((block) => results.sent(block) ?? []),
    }));
  }

  #lastResults(): LastResults | undefined {
    return LastResults.of(this.#turns.map(({ blocks }) => blocks));
  }

  /** Names of the tools that the conversation has called, as the upstream knows them. */
  get calledTools(): readonly string[] {
    const names = new Set<string>();
    for (const { blocks } of this.#turns)
      for (const block of blocks) if (block.type === 'tool_use') names.add(block.name);
    return [...names];
  }
}

/** A text of only white space. */
function isBlank({ text }: TextBlock): boolean {
  return text.trim() === '';
}

function mergeNeighbours(turns: readonly Turn[]): readonly Turn[] {
  const merged: { readonly role: Role; readonly blocks: ContentBlock[] }[] = [];
  for (const { role, blocks } of turns) {
    const last = merged.at(-1);
    if (last?.role !== role) {
      if (blocks.length > 0) merged.push({ role, blocks: [...blocks] });
    } else for (const block of blocks) last.blocks.push(block);
  }
  return merged;
}

/** Moves each tool result to a turn right after its call; one without an earlier call stays in place. Roles take turns. */
function answerCalls(turns: readonly Turn[]): readonly Turn[] {
  const unclaimed = resultsById(turns);
  if (unclaimed.size === 0) return turns;
  const answers = turns.map(({ blocks }, at) =>
    blocks
      .filter((block) => block.type === 'tool_use')
      .flatMap(({ id }) => unclaimed.get(id)?.claim(at) ?? []),
  );
  const claimed = new Set<ContentBlock>(answers.flat());
  const answered = turns.flatMap(({ role, blocks }, at): readonly Turn[] => [
    { role, blocks: blocks.filter((block) => !claimed.has(block)) },
    { role: 'user', blocks: answers[at] ?? [] },
  ]);
  return mergeNeighbours(answered);
}

function resultsById(turns: readonly Turn[]): ReadonlyMap<string, Unclaimed> {
  const results = new Map<string, Unclaimed>();
  turns.forEach(({ blocks }, turn) => {
    for (const block of blocks) {
      if (block.type !== 'tool_result') continue;
      const unclaimed = results.get(block.tool_use_id) ?? new Unclaimed();
      unclaimed.add(block, turn);
      results.set(block.tool_use_id, unclaimed);
    }
  });
  return results;
}

/** The results of one id, in the order of their turns; calls claim them in the same order. */
class Unclaimed {
  readonly #results: { readonly block: BlockOf<'tool_result'>; readonly turn: number }[] = [];
  #next = 0;

  add(block: BlockOf<'tool_result'>, turn: number): void {
    this.#results.push({ block, turn });
  }

  /** Takes the first result after the turn of the call; those before it match no later call either. */
  claim(call: number): readonly BlockOf<'tool_result'>[] {
    while ((this.#results[this.#next]?.turn ?? Infinity) <= call) this.#next += 1;
    const claimed = this.#results[this.#next];
    this.#next += 1;
    return claimed ? [claimed.block] : [];
  }
}

function resultsFirst(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  if (!blocks.some(isResult)) return blocks;
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function isResult({ type }: ContentBlock): boolean {
  return type === 'tool_result';
}
