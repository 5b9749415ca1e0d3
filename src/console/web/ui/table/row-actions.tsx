import type { ComponentChildren } from 'preact';
import { Button } from '../button.js';
import type { IconName } from '../icon.js';
import type { Column } from './column.js';

/** Last column of a table, with buttons that change the row. */
export function actionsColumn<Row>(cell: (row: Row) => ComponentChildren): Column<Row> {
  return { id: 'actions', head: 'Actions', isHeadHidden: true, class: 'row-actions', cell };
}

interface RowButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
}

export function RowButton(props: RowButtonProps) {
  return <Button small changes tone="quiet" {...props} />;
}
