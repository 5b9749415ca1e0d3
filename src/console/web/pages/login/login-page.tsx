import { useEffect, useState } from 'preact/hooks';
import { panel } from '../../api/panel.js';
import { usePlace } from '../../state/location.js';
import { signedIn } from '../../state/session.js';
import { useAction } from '../../state/use-action.js';
import { Button } from '../../ui/button.js';
import { Input } from '../../ui/field.js';
import { Logo } from '../../ui/logo.js';
import { Problem } from '../../ui/problem.js';

export function LoginPage() {
  const [password, setPassword] = useState('');
  const action = useAction();
  const isComingBack = usePlace().query.has('next');
  useEffect(() => {
    document.title = 'Sign in · gw2api';
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await action.run(async () => void (await panel.login(password)))) signedIn();
  };
  return (
    <main class="login">
      <form class="login-box" onSubmit={(event) => void submit(event)}>
        <Logo size={44} />
        <h1>Sign in to gw2api</h1>
        <p class="lead">
          {isComingBack ? 'Sign in, and you are back where you were.' : 'The console of this gateway.'}
        </p>
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
        <Button type="submit" tone="primary" busy={action.isBusy}>
          Sign in
        </Button>
      </form>
    </main>
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
