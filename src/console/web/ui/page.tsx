import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface PageProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  /** Controls beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Page({ title, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · gw2api`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

interface CardProps {
  readonly title?: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Card({ title, aside, class: className = '', children }: CardProps) {
  return (
    <section class={`card ${className}`}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}
