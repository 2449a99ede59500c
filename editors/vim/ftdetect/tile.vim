" Kernels for tilec.
autocmd BufNewFile,BufRead *.tile setfiletype tile
