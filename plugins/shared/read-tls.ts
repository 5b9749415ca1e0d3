import { readTlsFiles, type Host, type TlsFiles, type TlsSettings } from '@gw2api/gateway/plugin';

/** TLS settings with the texts of their files. Throws an Error that names the option whose file is wrong. */
export function readTls(files: TlsFiles, host: Pick<Host, 'resolvePath'>): TlsSettings | undefined {
  const { settings, problems } = readTlsFiles(files, (file) => host.resolvePath(file));
  const [problem] = problems;
  if (problem) throw new Error(`${['with.tls', problem.part].filter(Boolean).join('.')} ${problem.message}`);
  return settings;
}
