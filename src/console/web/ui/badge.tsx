import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

export type Tone = 'ok' | 'warn' | 'bad' | 'idle' | 'info';

export interface BadgeProps {
  readonly tone: Tone;
  /** A shape beside the colour: a state is never told by colour alone. */
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}

export function Badge({ tone, icon, children }: BadgeProps) {
  return (
    <span class={`badge badge-${tone}`}>
      {icon && <Icon name={icon} size={13} />}
      {children}
    </span>
  );
}
