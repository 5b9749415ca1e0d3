import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../measure/lab.js';
import { findProgram } from './installed.js';
import { plainTarget } from './plain.js';
import type { StartTarget } from './target.js';

export function isNginxInstalled(): boolean {
  return findProgram('nginx') !== undefined;
}

/** nginx as a reverse proxy for streams: one worker, connections kept, nothing buffered. */
export const startNginx: StartTarget = async (lab, upstream) => {
  const port = await freePort();
  const file = join(lab.folder, 'nginx.conf');
  await writeFile(file, configOf(lab.folder, port, new URL(upstream).host));
  return plainTarget(
    await lab.spawnServer(port, findProgram('nginx') ?? 'nginx', ['-p', lab.folder, '-c', file]),
  );
};

function configOf(folder: string, port: number, upstream: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log /dev/null;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary.map((kind) => `${kind}_temp_path ${folder}/nginx-${kind};`).join('\n  ')}
  client_max_body_size 128m;
  client_body_buffer_size 1m;
  keepalive_requests 1000000;
  upstream scripted { server ${upstream}; keepalive 2048; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location / {
      proxy_pass http://scripted;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}
