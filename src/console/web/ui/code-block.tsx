import { CopyButton } from './copy-button.js';

interface CodeBlockProps {
  readonly title: string;
  readonly text: string;
  readonly note?: string;
}

/** Text to paste elsewhere, with a copy button. */
export function CodeBlock({ title, text, note }: CodeBlockProps) {
  return (
    <figure class="code">
      <figcaption>
        <span>{title}</span>
        <CopyButton text={text} what={title} words />
      </figcaption>
      <pre>
        <code>{text}</code>
      </pre>
      {note && <p class="hint">{note}</p>}
    </figure>
  );
}
