import { malformed } from '../../shared/openai/openai-stream-error.js';

export interface LatePart {
  readonly kind: 'text' | 'thinking';
  readonly text: string;
}

/** Text between the arguments of tool calls, which is written after them. */
export class LateText {
  #parts: { kind: LatePart['kind']; text: string }[] = [];
  #length = 0;

  add(kind: LatePart['kind'], text: string): void {
    this.#length += text.length;
    if (this.#length > maxLength) throw malformed('too much text within its tool calls');
    const last = this.#parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.#parts.push({ kind, text });
  }

  take(): readonly LatePart[] {
    return this.#parts.splice(0);
  }
}

const maxLength = 4 * 1024 * 1024;
