import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { jsonFields } from '@gw2api/gateway/plugin/upstream';

/** Key of a Google service account. */
export interface ServiceKey {
  readonly email: string;
  readonly tokenUrl: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
}

/** Reads the JSON of a service account's key. Throws an Error that names the option, without secrets. */
export function readServiceKey(option: string, json: string): ServiceKey {
  const { type, client_email, private_key, private_key_id, token_uri } = jsonFields(json);
  if (type === undefined) throw new Error(`${option} is no JSON of a service account`);
  if (type !== 'service_account')
    throw new Error(`${option} is no key of a service account; use applicationDefault for other credentials`);
  if (typeof client_email !== 'string' || typeof private_key !== 'string')
    throw new Error(`${option} lacks client_email or private_key`);
  return {
    email: client_email,
    tokenUrl: typeof token_uri === 'string' ? token_uri : googleTokenUrl,
    keyId: typeof private_key_id === 'string' ? private_key_id : undefined,
    key: privateKey(option, private_key),
  };
}

function privateKey(option: string, pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // the message of OpenSSL would not help
  }
  throw new Error(`${option} has a private_key that is no RSA key in PEM`);
}

export const googleTokenUrl = 'https://oauth2.googleapis.com/token';

/** Signed assertion (RFC 7523) that a token endpoint of Google exchanges for an access token. */
export function assertionOf(
  { email, tokenUrl, keyId, key }: ServiceKey,
  scope: string,
  nowMs: number,
): Promise<string> {
  const seconds = Math.floor(nowMs / 1000);
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
    .setIssuer(email)
    .setAudience(tokenUrl)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 3600)
    .sign(key);
}
