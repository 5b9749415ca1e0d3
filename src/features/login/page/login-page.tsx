import { useEffect } from 'preact/hooks';
import { hrefOf, usePlace } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Icon } from '../../../console/web/ui/icon.js';
import { Skeleton } from '../../../console/web/ui/loaded.js';
import { Logo } from '../../../console/web/ui/logo.js';
import { fetchLoginWays, type LoginWays } from './api.js';
import { PasswordForm } from './password-form.js';
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
          {query.has('next') ? 'Sign in, and you are back where you were.' : 'The console of this gateway.'}
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
