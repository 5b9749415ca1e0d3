import type { Loss } from '../contract/loss.js';
import type { MessagesRequest } from '../contract/messages.js';
import type { ModelProfile } from '../contract/models.js';
import type { SlotCall } from '../contract/slot/slot.js';

/** Fields to set, or with undefined to leave out. */
type Changes = { readonly [Key in keyof MessagesRequest]?: MessagesRequest[Key] | undefined };

/** Translated request for one receiver, with the losses so far. */
export class Narrowing {
  readonly profile: ModelProfile;
  readonly losses: Loss[] = [];
  #request: MessagesRequest;

  constructor({ request, profile = {}, without }: SlotCall) {
    this.#request = request;
    this.profile = without ? profileWithout(profile, without) : profile;
  }

  get request(): MessagesRequest {
    return this.#request;
  }

  lose(path: string, kind: Loss['kind'] = 'setting'): void {
    this.losses.push({ path, kind });
  }

  set(changes: Changes): void {
    const request: Record<string, unknown> = { ...this.#request, ...changes };
    for (const [name, value] of Object.entries(changes)) if (value === undefined) delete request[name];
    this.#request = request as MessagesRequest; // only optional fields are left out
  }
}

/** Profile of a model, corrected by its upstream's refusals. */
function profileWithout(profile: ModelProfile, without: ReadonlySet<string>): ModelProfile {
  const corrected: { -readonly [Key in keyof ModelProfile]: ModelProfile[Key] } = { ...profile };
  for (const entry of without) {
    const [name, value = ''] = entry.split('=', 2);
    if (name === 'thinking' && isKind(value)) corrected.thinking = value;
    if (name === 'efforts') corrected.efforts = value === '' ? [] : value.split(',');
    if (name === 'thinking.disabled') corrected.canStopThinking = false;
  }
  return corrected;
}

function isKind(value: string): value is NonNullable<ModelProfile['thinking']> {
  return value === 'adaptive' || value === 'budget' || value === 'none';
}
