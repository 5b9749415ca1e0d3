import { generateKeyPairSync, type KeyObject } from 'node:crypto';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Key that the assertions of `serviceAccountKey` are signed with. */
export const servicePublicKey: KeyObject = publicKey;

/** JSON of the key of a service account, whose tokens come from `tokenUrl`. */
export function serviceAccountKey(tokenUrl: string, changes: object = {}): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'test-project',
    private_key_id: 'key-1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'gateway@test-project.iam.example',
    token_uri: tokenUrl,
    ...changes,
  });
}
