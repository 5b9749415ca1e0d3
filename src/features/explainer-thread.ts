import { parentPort } from 'node:worker_threads';
import { problemsOf } from '../config/config.js';
import { SocketGuard } from './dry-run/socket-guard.js';
import { explain } from './explain/explain.js';
import { openGateway } from './open.js';
import { revived, type ThreadAnswer, type ThreadTask } from './explain/thread-task.js';

/** Entry of a thread that explains the requests it is sent, one after another. */
async function answerTo({ config, request, settings }: ThreadTask): Promise<ThreadAnswer> {
  try {
    return { explanation: await explain(revived(config), request, openGateway, settings) };
  } catch (error) {
    return { problem: problemsOf(error).join('\n') };
  }
}

const guard = new SocketGuard(); // between the runs, too: a plugin may have left something behind
parentPort?.once('close', () => guard.close());
parentPort?.on('message', (task: ThreadTask) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of Node has no origin
  void answerTo(task).then((answer) => parentPort?.postMessage(answer)); // the task is the gateway's own
});
