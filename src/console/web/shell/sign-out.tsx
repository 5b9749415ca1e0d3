import { logOut } from '../api/session.js';
import { toConsoleError } from '../api/call.js';
import { navigate } from '../state/location.js';
import { signedOut } from '../state/session.js';
import { toast } from '../state/toasts.js';
import { Button } from '../ui/button.js';

export function SignOut() {
  return <Button tone="quiet" icon="leave" label="Sign out" onClick={() => void leave()} />;
}

/** Ends the session and shows the login. */
export async function leave(): Promise<void> {
  try {
    const { continue_to: elsewhere } = (await logOut()) ?? {};
    if (elsewhere !== undefined) return window.location.assign(elsewhere); // the provider ends its own session
    navigate('/login');
    signedOut();
  } catch (error) {
    toast(toConsoleError(error).message, 'bad');
  }
}
