/** Content part of a message or of a tool's output. */
export type InputPart =
  | { readonly type: 'input_text' | 'output_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: string }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string }
  | { readonly type: 'input_file'; readonly file_url: string };

/** Item of `input`. */
export type InputItem =
  | {
      readonly type: 'message';
      readonly role: 'user' | 'assistant' | 'developer';
      readonly content: readonly InputPart[];
      /** Of an answer: a comment on the way, or the answer itself. */
      readonly phase?: string;
    }
  | {
      readonly type: 'function_call';
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: 'function_call_output';
      readonly call_id: string;
      readonly output: string | readonly InputPart[];
    }
  /** Reasoning as the vendor gave it. */
  | { readonly type: 'reasoning'; readonly [field: string]: unknown };
