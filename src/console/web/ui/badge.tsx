import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

export type Tone = 'ok' | 'warn' | 'bad' | 'idle' | 'info';

export interface BadgeProps {
  readonly tone: Tone;
  /** A shape beside the colour: a state is never shown by colour alone. */
  readonly icon?: IconName;
  /** The full text, for when it is cut off. */
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function Badge({ tone, icon, title, children }: BadgeProps) {
  return (
    <span class={`badge badge-${tone}`}>
      {icon && <Icon name={icon} size={13} />}
      <span class="badge-text" title={title}>
        {children}
      </span>
    </span>
  );
}
