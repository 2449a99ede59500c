" Vim file type plugin: kernels for tilec.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=#\ %s comments=b:# suffixesadd=.tile,.py
setlocal expandtab shiftwidth=4 softtabstop=4 formatoptions-=t formatoptions+=croql
let b:undo_ftplugin = 'setlocal commentstring< comments< suffixesadd< expandtab< shiftwidth< softtabstop< formatoptions<'
" Indentation is Python's.
if !exists('b:did_indent')
  runtime! indent/python.vim
endif
