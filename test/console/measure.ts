import type { Page } from 'playwright-core';

/** All faults of a page's layout that a reader would stumble over, a line each, twelve at the most. */
export function layoutFaultsOf(page: Page): Promise<readonly string[]> {
  const functions = [scrollingFaults, cutTimes, textsOf, clipOf, textFaults, overlapFaults, quoted];
  return page.evaluate<readonly string[]>(`(() => {
    ${functions.map(String).join('\n')}
    const texts = textsOf();
    const faults = [...scrollingFaults(), ...cutTimes(), ...texts.flatMap(textFaults), ...overlapFaults(texts)];
    return [...new Set(faults)].slice(0, 12);
  })()`);
}

// What follows runs in the browser, whose types this project does not load.
/* oxlint-disable typescript/no-explicit-any */
declare const document: any;
declare const getComputedStyle: (node: any) => any;
declare const NodeFilter: any;
/* oxlint-enable typescript/no-explicit-any */

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Text {
  readonly data: string;
  readonly parent: typeof document;
  /** The lines it stands in, as far as they are seen. */
  readonly lines: readonly Box[];
}

/** The page and its parts that can be scrolled sideways, and figures that are cut. */
function scrollingFaults(): readonly string[] {
  const faults: string[] = [];
  const root = document.documentElement;
  const beyond = root.scrollWidth - root.clientWidth;
  if (beyond > 0) faults.push(`the page scrolls ${beyond} px sideways`);
  for (const node of document.querySelectorAll('body *')) {
    const { overflowX } = getComputedStyle(node);
    if (node.clientWidth === 0 || node.scrollWidth <= node.clientWidth + 1) continue;
    if (overflowX === 'auto' || overflowX === 'scroll') faults.push(`<${node.className}> scrolls sideways`);
    if (node.matches('.num') && overflowX !== 'visible') faults.push(`"${node.textContent}" is cut`);
  }
  return faults;
}

/** Fields for a time that are narrower than what a browser writes into them. */
function cutTimes(): readonly string[] {
  const faults: string[] = [];
  for (const node of document.querySelectorAll('input[type="datetime-local"]')) {
    if (node.offsetWidth === 0) continue;
    const whole = node.cloneNode();
    whole.style.cssText = 'position: absolute; width: max-content; min-width: 0';
    node.parentElement.append(whole);
    const beyond = whole.offsetWidth - node.offsetWidth;
    whole.remove();
    if (beyond > 1) faults.push(`a field for a time is cut by ${beyond} px`);
  }
  return faults;
}

/** All texts that are seen, but for those of what floats over the page. */
function textsOf(): readonly Text[] {
  const texts: Text[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      continue;
    const clip = clipOf(parent);
    if (!clip) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()].map(({ left, right, top, bottom }) => ({
      left: Math.max(left, clip.left),
      right: Math.min(right, clip.right),
      top: Math.max(top, clip.top),
      bottom: Math.min(bottom, clip.bottom),
    }));
    const seen = lines.filter(({ left, right, top, bottom }) => right - left >= 1 && bottom - top >= 1);
    texts.push({ data: node.data.trim(), parent, lines: seen });
  }
  return texts;
}

/** The part of the page in which an element may be seen; undefined where it floats, or is read aloud only. */
function clipOf(element: typeof document): Box | undefined {
  let clip = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
  for (let above = element; above && above !== document.body; above = above.parentElement) {
    const { position, clipPath, overflowX } = getComputedStyle(above);
    if (position === 'fixed' || position === 'sticky' || clipPath !== 'none' || above.matches('select'))
      return undefined;
    if (overflowX === 'visible') continue;
    const { left, right, top, bottom } = above.getBoundingClientRect();
    clip = {
      left: Math.max(clip.left, left),
      right: Math.min(clip.right, right),
      top: Math.max(clip.top, top),
      bottom: Math.min(clip.bottom, bottom),
    };
  }
  return clip;
}

/** Texts that leave the window or their card, and those that are broken letter by letter. */
function textFaults(text: Text): readonly string[] {
  const { data, parent, lines } = text;
  const faults: string[] = [];
  const { clientWidth } = document.documentElement;
  const card = parent.closest('.card')?.getBoundingClientRect();
  if (lines.some(({ left, right }) => right > clientWidth + 1 || left < -1))
    faults.push(`${quoted(text)} leaves the window`);
  if (card && lines.some(({ left, right }) => right > card.right + 1 || left < card.left - 1))
    faults.push(`${quoted(text)} leaves its card`);
  if (lines.length > 4 && lines.length > data.length / 4) faults.push(`${quoted(text)} is broken to pieces`);
  if (lines.length > 1 && /^[+−]?[\d,.]+[BMK]?$/.test(data)) faults.push(`${quoted(text)} is broken`);
  return faults;
}

/** Texts that stand on each other. A text that is cut short has two boxes of its own. */
function overlapFaults(texts: readonly Text[]): readonly string[] {
  const faults: string[] = [];
  const boxes = texts
    .flatMap((text) => text.lines.map((line) => ({ ...line, text })))
    .toSorted((a, b) => a.top - b.top);
  for (const [index, one] of boxes.entries())
    for (let next = index + 1; next < boxes.length; next += 1) {
      const other = boxes[next]!;
      if (other.top >= one.bottom - 3) break;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (other.text !== one.text && across > 2 && down > 3)
        faults.push(`${quoted(one.text)} and ${quoted(other.text)} overlap by ${Math.round(across)} px`);
    }
  return faults;
}

function quoted({ data }: Text): string {
  return `"${data.slice(0, 40)}"`;
}
