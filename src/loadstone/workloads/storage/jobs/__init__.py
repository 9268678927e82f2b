"""Job files of fio: read, resolved by fio's parser, and held against what may be done."""
