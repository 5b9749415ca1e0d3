import { useState } from 'preact/hooks';
import { fetchSession } from '../../../console/web/api/session.js';
import { signedIn } from '../../../console/web/state/session.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { Button } from '../../../console/web/ui/button.js';
import { Input } from '../../../console/web/ui/field.js';
import { Problem } from '../../../console/web/ui/problem.js';
import { logIn } from './api.js';

/** `isSecond`: another way to sign in comes before it. */
export function PasswordForm({ isSecond }: { readonly isSecond: boolean }) {
  const [password, setPassword] = useState('');
  const action = useAction();
  const submit = async (event: Event) => {
    event.preventDefault();
    await action.run(async () => {
      await logIn(password);
      signedIn(await fetchSession());
    });
  };
  return (
    <form class="login-form" onSubmit={(event) => void submit(event)}>
      {/* For password managers, which keep a password by its user. */}
      <input
        class="sr-only"
        name="username"
        value="operator"
        autocomplete="username"
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      <Input
        label="Password"
        type="password"
        value={password}
        onValue={setPassword}
        autocomplete="current-password"
        required
        hint={<PasswordHint />}
      />
      {action.error && <Problem error={action.error} />}
      <Button type="submit" tone={isSecond ? 'plain' : 'primary'} busy={action.isBusy}>
        Sign in
      </Button>
    </form>
  );
}

function PasswordHint() {
  return (
    <>
      <code>GW_PANEL_PASSWORD</code> where it is set, else the master key: <code>GW2API_API_KEY</code> in{' '}
      <code>.env</code>.
    </>
  );
}
