import type { ComponentChildren } from 'preact';
import { adminsOnly, useIsViewer } from '../state/session.js';
import { Icon, type IconName } from './icon.js';

interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly small?: boolean;
  readonly busy?: boolean;
  readonly disabled?: boolean;
  /** Label of a button without text. */
  readonly label?: string;
  readonly title?: string | undefined;
  readonly pressed?: boolean;
  /** True for a button with a change, which is disabled for viewers. */
  readonly changes?: boolean;
  readonly onClick?: () => void;
}

/** A button; while busy it keeps the focus and ignores clicks. */
export function Button(props: ButtonProps) {
  const { children, icon, tone = 'plain', type = 'button', busy = false, onClick } = props;
  const isRefused = useIsViewer() && props.changes === true;
  const sizes = `${props.small ? ' button-small' : ''}${children === undefined ? ' button-bare' : ''}`;
  return (
    <button
      type={type}
      class={`button button-${tone}${sizes}`}
      disabled={props.disabled || isRefused}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      aria-label={props.label}
      aria-pressed={props.pressed}
      title={isRefused ? adminsOnly : (props.title ?? props.label)}
      onClick={busy ? undefined : onClick}
    >
      {icon && <Icon name={icon} size={props.small ? 15 : 17} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}
