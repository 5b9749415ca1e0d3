import { useEffect, useState } from 'preact/hooks';
import { toast } from '../state/toasts.js';
import { Button } from './button.js';

interface CopyButtonProps {
  readonly text: string;
  /** Name of the copied text, for the label. */
  readonly what: string;
  readonly words?: boolean;
  readonly primary?: boolean;
}

export function CopyButton({ text, what, words = false, primary = false }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await copyText(text);
      setCopied(true);
      toast(`Copied ${what}.`);
    } catch {
      toast('The browser does not let the page copy; select the text and copy it yourself.', 'bad');
    }
  };
  const icon = isCopied ? 'check' : 'copy';
  if (!words)
    return <Button small tone="quiet" icon={icon} label={`Copy ${what}`} onClick={() => void copy()} />;
  return (
    <Button
      small
      icon={icon}
      tone={primary ? 'primary' : 'plain'}
      label={`Copy ${what}`}
      onClick={() => void copy()}
    >
      {isCopied ? 'Copied' : 'Copy'}
    </Button>
  );
}

/**
 * Copies a text. Browsers offer the clipboard API only on https and localhost; elsewhere `execCommand` is
 * used.
 */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const holder = document.createElement('textarea');
  holder.value = text;
  const parent = document.querySelector('dialog[open]') ?? document.body;
  parent.append(holder);
  holder.select();
  const isDone = document.execCommand('copy');
  holder.remove();
  if (!isDone) throw new Error('Nothing was copied.');
}
