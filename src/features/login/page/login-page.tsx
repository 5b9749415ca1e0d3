import { useEffect, useState } from 'preact/hooks';
import { hrefOf, usePlace } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Icon } from '../../../console/web/ui/icon.js';
import { Skeleton } from '../../../console/web/ui/loaded.js';
import { Logo } from '../../../console/web/ui/logo.js';
import { fetchLoginWays, type LoginWays, logIn } from './api.js';
import { fetchSession } from '../../../console/web/api/session.js';
import { signedIn } from '../../../console/web/state/session.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { Button } from '../../../console/web/ui/button.js';
import { Input } from '../../../console/web/ui/input/field.js';
import { Problem } from '../../../console/web/ui/problem.js';
import './login.css';

export function LoginPage() {
  const { query } = usePlace();
  const ways = useResource('login', fetchLoginWays);
  useEffect(() => {
    document.title = 'Sign in · gw2api';
  }, []);
  // Without an answer the password is tried: its own error says what is the matter.
  const known = ways.data ?? (ways.error && { password: true, oidc: null });
  return (
    <main class="login">
      <div class="login-box">
        <Logo size={44} />
        <h1>Sign in to gw2api</h1>
        <p class="lead">
          {query.has('next') ? 'Sign in to return to where you were.' : 'The console of this gateway.'}
        </p>
        {known ? <Ways ways={known} next={query.get('next') ?? '/'} /> : <Skeleton rows={2} height={40} />}
      </div>
    </main>
  );
}

function Ways({ ways: { oidc, password }, next }: { readonly ways: LoginWays; readonly next: string }) {
  return (
    <>
      {oidc && (
        <a class="button button-primary" href={`${oidc.url}?return=${encodeURIComponent(hrefOf(next))}`}>
          <Icon name="person" size={17} />
          <span>Sign in with {oidc.label}</span>
        </a>
      )}
      {oidc && password && (
        <p class="login-or">
          <span>or</span>
        </p>
      )}
      {password ? (
        <PasswordForm isSecond={oidc !== null} />
      ) : (
        <p class="dim">This console takes no passwords.</p>
      )}
    </>
  );
}

/** `isSecond`: another way to sign in comes before it. */
function PasswordForm({ isSecond }: { readonly isSecond: boolean }) {
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
