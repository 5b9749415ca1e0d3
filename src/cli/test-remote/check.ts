import type { RemoteServer } from './remote-server.js';

/** Check of what each correct server of remote stages does, whatever its policy. */
export interface RemoteCheck {
  /** Its name in reports. */
  readonly name: string;
  /** Behaviour of a correct server, such as "refuses an empty body". */
  readonly rule: string;
  /** True for a check of signatures, which needs the secret. */
  readonly needsSecret?: boolean;
  /** Throws a CheckFailure if the server does something else. */
  run(server: RemoteServer): Promise<void>;
}
