import type { ComponentChildren } from 'preact';
import type { Resource } from '../state/use-resource.js';
import { Problem } from './problem.js';

interface LoadedProps<Data> {
  readonly resource: Resource<Data>;
  /** Placeholder of the same size as the content. */
  readonly skeleton: ComponentChildren;
  readonly children: (data: Data) => ComponentChildren;
}

/** Loaded data; before it a skeleton, or the error with a retry button. */
export function Loaded<Data>({ resource, skeleton, children }: LoadedProps<Data>) {
  const { data, error, isStale, reload } = resource;
  if (data === undefined) return <>{error ? <Problem error={error} onRetry={reload} /> : skeleton}</>;
  return (
    <div class={isStale ? 'loaded loaded-stale' : 'loaded'} aria-busy={isStale}>
      {error && <Problem error={error} onRetry={reload} />}
      {children(data)}
    </div>
  );
}

interface SkeletonProps {
  readonly rows?: number;
  /** Height of a line in pixels. */
  readonly height?: number;
}

/** Grey placeholder lines while content loads. */
export function Skeleton({ rows = 3, height = 20 }: SkeletonProps) {
  const lines = Array.from({ length: rows }, (_, row) => row);
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {lines.map((row) => (
        <span key={row} style={{ height: `${height}px` }} />
      ))}
    </div>
  );
}

/** Card of placeholder lines. */
export function CardSkeleton(props: SkeletonProps) {
  return (
    <div class="card">
      <Skeleton {...props} />
    </div>
  );
}
