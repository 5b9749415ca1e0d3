import type { Environment } from '../config/environment.js';

/** Warnings about guessable keys of the environment, which are still accepted. */
export function weakSecrets(env: Environment): readonly string[] {
  const {
    GW2API_API_KEY: masterKey = '',
    GW_SECRET_KEY: secretKey = '',
    GW_PANEL_PASSWORD: password = '',
  } = env;
  const fault = secretKey === '' ? undefined : faultOf(secretKey);
  return [
    ...(masterKey !== '' && masterKey.length < minMasterKey ? [weakMasterKey] : []),
    ...(password !== '' && password.length < minPassword ? [weakPassword] : []),
    ...(fault === undefined ? [] : [`GW_SECRET_KEY ${fault} ${strongKey}`]),
  ];
}

const minMasterKey = 16;
const weakMasterKey = `GW2API_API_KEY is shorter than ${minMasterKey} characters and can be guessed; set a longer one.`;

const minPassword = 12;
const weakPassword = `GW_PANEL_PASSWORD is shorter than ${minPassword} characters and can be guessed; set a longer one.`;

/** Fault of the encryption key: guesses can be tried on a copy of the store without limit. */
function faultOf(secretKey: string): string | undefined {
  if (secretKey !== secretKey.trim())
    return 'begins or ends with white space, which is part of the key: it is easily lost, and the credentials with it.';
  if (secretKey.length < minSecretKey)
    return `is shorter than ${minSecretKey} characters: it can be guessed, and what it encrypts can be read.`;
  if (new Set(secretKey).size < minCharacters)
    return `has fewer than ${minCharacters} different characters: it can be guessed, and what it encrypts can be read.`;
  return undefined;
}

const minSecretKey = 32;

/**
 * Min number of different characters: random keys of 32 bytes have 20 and more in base64, and 12 and more as
 * hexadecimal digits.
 */
const minCharacters = 8;

const strongKey =
  'Make one with `openssl rand -base64 32`; "A new GW_SECRET_KEY" in config/deploying.md explains how to replace one that is in use.';
