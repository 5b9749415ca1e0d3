import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  /** The suggested next step. */
  readonly children: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={24} />
      </span>
      <h2>{title}</h2>
      <div class="empty-next">{children}</div>
    </div>
  );
}
