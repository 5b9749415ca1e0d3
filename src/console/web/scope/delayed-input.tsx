import { useEffect, useState } from 'preact/hooks';
import { Input } from '../ui/input/field.js';

interface DelayedInputProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  readonly list?: string;
  readonly isSearch?: boolean;
}

const delayMs = 350;

/** Text field that reports a change once typing has paused, since each one sends a request. */
export function DelayedInput({
  label,
  value,
  onValue,
  placeholder,
  list,
  isSearch = false,
}: DelayedInputProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return undefined;
    const timer = setTimeout(() => onValue(text.trim()), delayMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <Input
      label={label}
      type="search"
      value={text}
      onValue={setText}
      placeholder={placeholder}
      mono
      {...(list && { list })}
      {...(isSearch && { 'data-search': true })}
    />
  );
}
