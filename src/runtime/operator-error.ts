/** Something that whoever starts a program can mend. The message says what to do; it is shown alone, without a stack. */
export class OperatorError extends Error {}
