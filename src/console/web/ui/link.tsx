import type { ComponentChildren } from 'preact';
import { hrefOf, navigate } from '../state/location.js';

interface LinkProps {
  /** Path below `/panel`. */
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly current?: boolean;
  readonly label?: string;
  readonly title?: string;
}

/** A link within the page; a click with a modifier key opens a new tab, as usual. */
export function Link({ to, children, class: className, current, label, title }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a
      href={hrefOf(to)}
      class={className}
      aria-current={current ? 'page' : undefined}
      aria-label={label}
      title={title}
      onClick={follow}
    >
      {children}
    </a>
  );
}
