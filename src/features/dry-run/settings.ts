import type { PipelineWatch } from '../../engine/pipeline/run/watch.js';
import type { KeyLimits, ProtocolKey } from '../../plugin/index.js';
import type { MeterReading, WindowLimit } from '../../plugin/core.js';
import type { OnChoice } from '../../engine/slots/selection/observed-choice.js';
import type { RemoteAnswer } from './remotes.js';
import type { SlotsState } from '../../engine/slots/pool/snapshot.js';

/** Settings of the simulated environment of a dry gateway. */
export interface DrySettings {
  /**
   * Scenarios of the simulator in place of a slot's account, by slot id, in the syntax of its markers: `text`, `429
   * retry-after=2 times=1`. Default: an ordinary answer; throws for an unknown slot.
   */
  readonly slots?: Readonly<Record<string, readonly string[]>>;
  /** Terms of the keys that requests name; other names are issued without limits. */
  readonly keys?: Readonly<Record<string, KeyTerms>>;
  /** Terms of the teams that keys name. */
  readonly teams?: Readonly<Record<string, TeamTerms>>;
  /** Replies to the questions of remote stages, in order, by the name of the stage. Default: all is allowed. */
  readonly remotes?: Readonly<Record<string, readonly RemoteAnswer[]>>;
  /** Unix milliseconds; default: now. */
  readonly startMs?: number;
  /** True: `start` of stages is called; default false. */
  readonly startsStages?: boolean;
  /** Watches each request on its way through the stages. */
  readonly watch?: PipelineWatch;
  /** Notified of each choice of a slot. */
  readonly onChoice?: OnChoice;
  /** State of the slots at the start; default: all are ready, and none is in use. */
  readonly state?: SlotsState;
}

/** Terms of a key as the console takes them. */
export type KeyTerms = KeyLimits &
  Pick<ProtocolKey, 'models' | 'slots' | 'pipeline'> & {
    readonly id?: string;
    /** Name of its team, one of `teams`. */
    readonly team?: string;
    /** Use of its limits at the start; default: none. */
    readonly used?: UsedLimits;
  };

/** Terms of a team, whose limits its keys share. */
export type TeamTerms = KeyLimits & {
  readonly pipeline?: string;
  readonly id?: string;
  /** Use of its limits at the start; default: none. */
  readonly used?: UsedLimits;
};

/** Use of limits in their windows, in the limits' own units; by default the windows have just begun. */
export type UsedLimits = Partial<
  Readonly<Record<WindowLimit, Pick<MeterReading, 'used'> & Partial<MeterReading>>>
>;
