import { numberOf, type Scenario } from './marker.js';
import { errorTypes, Refusal } from '../refusal.js';

/** Request into which faults are injected before it is answered. */
export interface FaultTarget {
  readonly now: () => number;
  /** Waits; rejects when the caller has disconnected. */
  sleep(ms: number): Promise<void>;
  /** Destroys the socket. */
  destroy(): void;
  /** Answers with bytes of another protocol. */
  answerWith(status: number, contentType: string, body: string): void;
}

interface Fault {
  readonly help: string;
  /** Throws a `Refusal` to answer with it; true if it has handled the request. */
  readonly inject: (target: FaultTarget, params: Scenario['params']) => boolean | Promise<boolean>;
}

const messages: Readonly<Record<string, string>> = {
  400: 'The simulator was asked to refuse this request.',
  401: 'invalid x-api-key',
  403: 'Your account does not have permission to use this resource.',
  404: 'model: simulated',
  413: 'Request exceeds the maximum size',
  429: "This request would exceed your organization's rate limit of 400,000 input tokens per minute.",
  500: 'Internal server error',
  502: 'Bad gateway',
  503: 'Service unavailable',
  504: 'Request timed out.',
  529: 'Overloaded',
};

/** Faults that are injected before the answer begins, in the order of the message. */
export const faults: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries(Object.keys(messages).map((status) => [status, statusFault(Number(status))])),
  'window-exhausted': {
    help: 'window=5h in=3600: 429 with the unified headers of a spent window, and its retry-after',
    inject: exhaustWindow,
  },
  late: {
    help: 'ms=100: that long until the headers',
    inject: async (target, params) => {
      await target.sleep(numberOf(params, 'ms', 100));
      return false;
    },
  },
  hang: { help: 'no answer ever', inject: () => true },
  reset: {
    help: 'the socket is destroyed before the headers',
    inject: (target) => {
      target.destroy();
      return true;
    },
  },
  html: {
    help: 'a page of HTML with status 200',
    inject: (target) => {
      target.answerWith(
        200,
        'text/html; charset=utf-8',
        '<!doctype html><title>Simulated proxy page</title>',
      );
      return true;
    },
  },
};

/** Injects the faults among the scenarios; true if one of them has handled the request. */
export async function inject(target: FaultTarget, scenarios: readonly Scenario[]): Promise<boolean> {
  for (const { name, params } of scenarios) {
    if (Object.hasOwn(faults, name) && (await faults[name]?.inject(target, params))) return true;
  }
  return false;
}

function statusFault(status: number): Fault {
  return {
    help: errorTypes[status] ?? 'api_error',
    inject: (_, params) => {
      const named = ['retry-after', 'retry-after-ms', 'x-should-retry'].filter((name) => name in params);
      throw new Refusal(status, params['message'] ?? messages[status] ?? 'Simulated', {
        headers: Object.fromEntries(named.map((name) => [name, params[name] ?? ''])),
        ...('code' in params ? { details: { error_code: params['code'] } } : {}),
      });
    },
  };
}

function exhaustWindow({ now }: FaultTarget, params: Scenario['params']): never {
  const seconds = numberOf(params, 'in', 3600);
  const window = params['window'] === '7d' ? '7d' : '5h';
  const reset = String(Math.ceil(now() / 1000) + seconds);
  throw new Refusal(429, "This request would exceed your account's rate limit. Please try again later.", {
    headers: {
      'retry-after': String(seconds),
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': reset,
      'anthropic-ratelimit-unified-representative-claim': window === '5h' ? 'five_hour' : 'seven_day',
      [`anthropic-ratelimit-unified-${window}-status`]: 'rejected',
      [`anthropic-ratelimit-unified-${window}-reset`]: reset,
      [`anthropic-ratelimit-unified-${window}-utilization`]: '1.0',
    },
  });
}
