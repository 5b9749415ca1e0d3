import type { ComponentType } from 'preact';

/** Reload for a share of new sessions at first, which another feature brings to the page. */
export interface PartialReload {
  /** Card above the stages. */
  readonly Card: ComponentType<PartialReloadProps>;
  readonly start: (percent: number) => Promise<unknown>;
}

export interface PartialReloadProps {
  /** Number of reloads on this page, whose change has the card look again. */
  readonly reloads: number;
  /** Called when the config of the card has been taken. */
  readonly onTaken: () => void;
}
