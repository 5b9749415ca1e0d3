import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { masterKey } from '../whole/harness.js';

/** The browser to test with; without it the tests of the page are skipped. */
export const chromium = process.env['GW_TEST_CHROMIUM'];

const screenshots = process.env['GW_TEST_SCREENSHOTS'];

export async function startBrowser(): Promise<Browser> {
  const { chromium: driver } = await import('playwright-core');
  return driver.launch({
    ...(chromium && { executablePath: chromium }),
    // A GPU process that a busy machine starves takes the whole browser along.
    args: ['--no-sandbox', '--disable-background-networking', '--disable-gpu'],
  });
}

/** The three ways in which each page is looked at. */
export const looks = {
  light: { colorScheme: 'light', viewport: { width: 1360, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1360, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const;

export type Look = keyof typeof looks;

/** A browser window, and what went wrong in it. */
export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, what the content security policy has refused, and requests to other hosts. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export async function openWindow(
  browser: Browser,
  url: string,
  look: Look = 'light',
  options: BrowserContextOptions = {},
): Promise<Window> {
  const context = await browser.newContext({
    ...looks[look],
    baseURL: url,
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => void complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
      complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) complaints.push(`a request to ${request.url()}`);
  });
  return { page, context, complaints, close: () => context.close() };
}

/** Opens a page of the console, and signs in with the master key. */
export async function signIn(page: Page, path = '/panel'): Promise<void> {
  await page.goto(path);
  await page.getByLabel('Password').fill(masterKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

/** Keeps what the page looks like as a whole, where the environment says where. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (!screenshots) return;
  await mkdir(screenshots, { recursive: true });
  const window = page.viewportSize();
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  // As high as the page: what sticks to an edge of the window stands at the edge of the picture.
  if (window) await page.setViewportSize({ ...window, height: Math.max(height, window.height) });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
  if (window) await page.setViewportSize(window);
}

/** How far a page goes beyond the width of its window, in pixels. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What of the accessibility rules a page breaks seriously, a line each. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(await axe);
  const violations = await page.evaluate<readonly Violation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then((results) => results.violations)",
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`),
    );
}
