import { useEffect, useRef } from 'preact/hooks';
import type { ConsoleError } from '../api/call.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

interface ProblemProps {
  readonly error: ConsoleError;
  readonly onRetry?: () => void;
  readonly retryText?: string;
}

/** An error in words, with a retry button if `onRetry` is given. */
export function Problem({ error, onRetry, retryText = 'Try again' }: ProblemProps) {
  const ref = useRef<HTMLDivElement>(null);
  // Scrolls into view: below a long form the error would be missed.
  useEffect(() => ref.current?.scrollIntoView({ block: 'nearest' }), [error]);
  return (
    <div class="problem" role="alert" ref={ref}>
      <Icon name="warn" />
      <div>
        <strong>{titleOf(error)}</strong>
        <p>{error.message}</p>
      </div>
      {onRetry && (
        <Button small onClick={onRetry}>
          {retryText}
        </Button>
      )}
    </div>
  );
}

function titleOf({ status, code, retryAfterSeconds }: ConsoleError): string {
  if (code === 'missing_script') return 'A part of this page did not load';
  if (status === 0) return 'The gateway cannot be reached';
  if (status === 429) return `Too many attempts; try again in ${retryAfterSeconds ?? 60} s`;
  if (status === 401) return 'You are not signed in';
  if (status === 404) return 'Not found';
  if (status === 409) return 'This conflicts with something else';
  return status >= 500 ? 'The gateway had a fault' : 'That was refused';
}
