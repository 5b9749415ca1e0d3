import { type Additions, estimateTokens } from '../../plugin/index.js';
import type { AddedByStages } from '../../plugin/core.js';

/** Parts of a request that stages have added, and their tokens. */
export class AddedParts implements AddedByStages {
  #tokens: Readonly<Record<string, number>> | undefined;
  #parts: readonly object[] = [];
  #stages: Map<object, string> | undefined;

  get tokens(): Readonly<Record<string, number>> | undefined {
    return this.#tokens;
  }

  count(tokens: Readonly<Record<string, number>>): void {
    this.#tokens = tokens;
  }

  /** Notes those parts as the stage's that no stage has added before. */
  note({ system, tools }: Additions, stage: string | undefined): void {
    this.#parts = [...system, ...tools];
    if (stage === undefined) return;
    const stages = (this.#stages ??= new Map<object, string>());
    for (const part of system) if (!stages.has(part)) stages.set(part, stage);
    for (const part of tools) if (!stages.has(part)) stages.set(part, stage);
  }

  /** Estimated tokens of all parts. */
  estimate(): number {
    return this.#parts.length === 0 ? 0 : estimateTokens(this.#parts);
  }

  stageOf(part: object): string | undefined {
    return this.#stages?.get(part);
  }
}
